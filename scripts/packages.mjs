// The packages of this workspace, and the files behind what they export.
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Returns a function from what is imported of a package, such as `@tool-hub/core/lib`, to the source that has it, or to
 * `undefined`. `root`: the folder of the workspace.
 */
export function readExports(root = '.') {
  const files = new Map()
  const packages = existsSync(join(root, 'packages')) ? readdirSync(join(root, 'packages')) : []
  for (const unit of packages) {
    const manifest = join(root, 'packages', unit, 'package.json')
    if (!existsSync(manifest)) continue
    const { name, exports = {} } = JSON.parse(readFileSync(manifest, 'utf8'))
    for (const [key, file] of Object.entries(exports)) {
      if (typeof file === 'string') files.set(`${name}${key.slice(1)}`, file.replace(/^\./, `packages/${unit}`))
    }
  }
  return (specifier) => {
    const pattern = `${specifier.split('/').slice(0, 2).join('/')}/*`
    return files.get(specifier) ?? files.get(pattern)?.replace('*', specifier.slice(pattern.length - 1))
  }
}

/**
 * Links everything that is installed in a folder into the `node_modules` of a copy of the workspace; the packages of the
 * workspace are those of the copy.
 */
export function linkModules(modules, copy) {
  mkdirSync(join(copy, 'node_modules/@tool-hub'), { recursive: true })
  for (const name of readdirSync(modules)) {
    if (/^\.(vite|own-modules|cache)|^(@tool-hub|tool-hub)$/.test(name)) continue
    symlinkSync(join(modules, name), join(copy, 'node_modules', name))
  }
  for (const unit of existsSync(join(copy, 'packages')) ? readdirSync(join(copy, 'packages')) : []) {
    const name = unit === 'tool-hub' ? unit : `@tool-hub/${unit}`
    symlinkSync(join(copy, 'packages', unit), join(copy, 'node_modules', name))
  }
}
