"""What a turn of a dialogue asks for, without a language model: call, find tools, ask or answer."""
