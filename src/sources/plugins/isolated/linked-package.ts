import { dirname, join } from 'node:path'
import { lookAtFolder } from '../../../disk/look-at-folder.ts'
import { escapeLine } from '../../../value/escape-text.ts'
import { packagesAbove } from './packages-above.ts'

/**
 * What to do about a package that a plugin did not find though it is there: the fence has the real folders of packages,
 * and not the links by which some installers lay them out. Undefined when that is not what is wrong.
 */
export function linkedPackage(file: string, message: string): string | undefined {
  const [, name] = /Cannot find package '((?:@[\w-][\w.-]*\/)?[\w-][\w.-]*)'/.exec(message) ?? []
  if (name === undefined) return undefined
  for (const packages of packagesAbove(dirname(file))) {
    const link = join(packages, name)
    const found = lookAtFolder(link)
    if (!found || found.path === link) continue
    // The folder that holds the link, and what it leads to.
    const missing = [isLink(packages) ? dirname(packages) : undefined, found.path].filter((path) => path !== undefined)
    const places = missing.map((path) => JSON.stringify(path)).join(', ')
    return escapeLine(`${link} is reached by a link, which it does not see: add isolate: { readable: [${places}] }.`)
  }
  return undefined
}

function isLink(folder: string): boolean {
  return lookAtFolder(folder)?.path !== folder
}
