const PREFIX = '#sign-in='

/** Takes the token that the address brought (`#sign-in=…`), and removes it from there, so that nobody reads or keeps it. */
export function readSignInToken(): string | undefined {
  const { hash, pathname, search } = window.location
  if (!hash.startsWith(PREFIX)) return undefined
  window.history.replaceState(null, '', `${pathname}${search}`)
  try {
    return decodeURIComponent(hash.slice(PREFIX.length))
  } catch {
    // A mangled link: the form asks for the token.
    return undefined
  }
}
