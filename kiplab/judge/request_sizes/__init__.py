"""How large a controller's requests are, before and after KIP-380 names each topic once."""
