"""Why a rule is broken or holds, found as a proof and told in a sentence."""
