"""Every metric of the fleet beside somebody who ought to know: the verification page."""
