"""The fixtures of all tests."""

from fake_service import service

__all__ = ["service"]
