"""The Action: measures both sides of a pull request, compares, reports. TorchScan measures; the owner decides."""
