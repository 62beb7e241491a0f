import { dirname, join } from 'node:path'

/** Where Node looks for the packages that a module in this folder imports, nearest first. */
export function packagesAbove(folder: string): string[] {
  const above = dirname(folder)
  return [join(folder, 'node_modules'), ...(above === folder ? [] : packagesAbove(above))]
}
