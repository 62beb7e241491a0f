import { SpawnerLink } from '../start/spawner-link.ts'

let link: SpawnerLink | undefined
let users = 0

/**
 * The process that starts programs, one for all of them and as long as there are any. It is not the one of commands:
 * that one ends with its guard.
 */
export function useProgramSpawner(): { readonly link: SpawnerLink; release(): void } {
  if (!link?.isOpen) {
    link = new SpawnerLink()
    users = 0
  }
  users += 1
  const used = link
  return {
    link: used,
    release() {
      // One that has died has been replaced, with users of its own.
      if (used !== link || --users > 0) return
      link = undefined
      void used.close()
    },
  }
}
