import { nearestNames } from '../../../core/index.ts'

/** Names as the tree that guest.mjs walks: a tool is its name, or `$tool` in a branch that has others below it. */
export function toolTree(names: readonly string[]): object {
  const root = emptyTree()
  for (const name of names) {
    const path = name.split(/[./]/)
    const last = path.pop()!
    let branch = root
    for (const step of path) {
      const next = branch[step]
      branch = typeof next === 'object' ? next : addBranch(branch, step, next)
    }
    const known = branch[last]
    if (typeof known === 'object') known.$tool = name
    else branch[last] = name
  }
  return root
}

interface ToolTree {
  [step: string]: string | ToolTree
}

function addBranch(tree: ToolTree, step: string, tool: string | undefined): ToolTree {
  const branch = emptyTree()
  if (tool !== undefined) branch.$tool = tool
  tree[step] = branch
  return branch
}

/** Without a prototype: a part of a name may be `__proto__`. */
function emptyTree(): ToolTree {
  return Object.create(null)
}

/** Tools and namespaces with names like this path, as a script would write them. */
export function nearestTools(path: string, names: readonly string[]): string {
  const known = new Set<string>()
  for (const name of names) {
    const steps = name.split(/[./]/)
    for (let count = 1; count <= steps.length; count++) known.add(steps.slice(0, count).join('.'))
  }
  return nearestNames(path, known)
    .map((near) => `tools${near.split('.').map(accessTo).join('')}`)
    .join(', ')
}

function accessTo(step: string): string {
  return /^[A-Za-z_]\w*$/.test(step) ? `.${step}` : `['${step}']`
}
