"""litellm as a client of Ollama's interface, whole and streamed. In a process of its own: one that was
another client before may stop for good between two of its requests."""

from litellm_python import check, way

check({f"ollama_chat {'streamed' if streams else 'whole'}": way("ollama_chat", streams) for streams in (False, True)})
