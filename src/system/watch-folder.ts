import { watch } from 'node:fs'

/**
 * Calls whenever something in a folder changes, also several times for one change. Some file systems tell nothing, and
 * a folder that is made anew is another one: anyone who must not miss a change looks by itself now and then, too. Gives
 * back how to stop.
 */
export function watchFolder(path: string, onChange: () => void): () => void {
  try {
    const watcher = watch(path, { persistent: false }, onChange)
    watcher.on('error', () => watcher.close())
    return () => watcher.close()
  } catch {
    // Nothing there, or no watch left to be had: then nothing is reported.
    return () => {}
  }
}
