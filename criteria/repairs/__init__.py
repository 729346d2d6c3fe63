"""Repairs: the smallest changes that make a rejected query bounded."""
