from tests.helpers.commands import labapp

__all__ = ["labapp"]
