"""What tools take and give, read from the formats in which tools are described."""
