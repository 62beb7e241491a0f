/** The name that a program goes by, whatever folder it is called from: `/bin/RM` is `rm`. */
export function baseName(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1).toLowerCase()
}
