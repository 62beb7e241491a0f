/** Returns a function from what is imported of a package to the source that has it, or to `undefined`. */
export function readExports(root?: string): (specifier: string) => string | undefined

/** Links what is installed in a folder into a copy of the workspace, whose packages are its own. */
export function linkModules(modules: string, copy: string): void
