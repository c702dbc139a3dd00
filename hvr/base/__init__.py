"""What every other room stands on: files, locks, texts, numbers, processes, registries."""
