import { readFile } from 'node:fs/promises'

/** How often each side effect happened, by its key: each line of the file is one. None may have happened twice. */
export async function checkEffects(checks, path) {
  const effects = new Map()
  for (const key of (await readFile(path, 'utf8')).split('\n').filter(Boolean))
    effects.set(key, (effects.get(key) ?? 0) + 1)
  const twice = [...effects].filter(([, times]) => times > 1)
  checks.none(`none of ${effects.size} side effects happened twice`, twice)
  return effects
}
