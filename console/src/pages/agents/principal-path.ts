/** Where somebody is shown who uses the hub. */
export function principalPath(name: string | undefined): string {
  return name === undefined ? '/agents' : `/agents?who=${encodeURIComponent(name)}`
}

/** The runs of a principal, those of its sessions included. */
export function runsPath(name: string): string {
  return `/runs?caller=${encodeURIComponent(name)}`
}

/** The sessions of a principal. */
export function sessionsPath(name: string): string {
  return `/agents?view=sessions&of=${encodeURIComponent(name)}`
}
