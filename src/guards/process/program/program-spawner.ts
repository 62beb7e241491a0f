import type { Jail } from '../jail/jail.ts'
import { SpawnerLink } from '../start/spawner-link.ts'

interface Shared {
  readonly link: SpawnerLink
  users: number
}

/** By whether its sandboxes have private mounts. */
const spawners = new Map<boolean, Shared>()

/**
 * The process that starts programs like this one, shared by all of them and as long as there are any. It is not the one
 * of commands: that one ends with its guard.
 */
export function useProgramSpawner(jail: Jail): { readonly link: SpawnerLink; release(): void } {
  const isPrivate = jail.hasPrivateMounts === true
  const known = spawners.get(isPrivate)
  const used = known?.link.isOpen ? known : { link: new SpawnerLink(jail), users: 0 }
  spawners.set(isPrivate, used)
  used.users += 1
  return {
    link: used.link,
    release() {
      used.users -= 1
      // One that has died has been replaced, with users of its own.
      if (used.users > 0 || spawners.get(isPrivate) !== used) return
      spawners.delete(isPrivate)
      void used.link.close()
    },
  }
}
