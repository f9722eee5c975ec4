"""Every metric of the fleet beside an independent calculation: the verification page."""
