"""Receipts as files, from one machine to another."""
