import type { Written } from '../../../contracts/handles.ts'
import type { Target } from '../open-roots.ts'
import type { ChangeScope } from './change-scope.ts'
import { FileSwap, type SwapOptions } from './file-swap.ts'
import { checkSize } from './fill-file.ts'
import { type Place, syncPlace, withPlace } from './place.ts'
import { refuseFolderName } from './refuse-target.ts'

/** Writes a whole file or nothing. */
export async function writeFile(
  scope: ChangeScope,
  target: Target,
  options: SwapOptions & { readonly mkdirp: boolean },
): Promise<Written> {
  refuseFolderName(target)
  checkSize(options.content, options.limit)
  scope.door.pass(target, 'write', scope.call)
  return withPlace(scope, target, options.mkdirp, (place) => swapFile(scope, place, options))
}

/** Gives a place its content: prepared, on record, in one step, and there after a loss of power. */
export async function swapFile(scope: ChangeScope, place: Place, options: SwapOptions): Promise<Written> {
  const swap = await FileSwap.prepare(scope, place, options)
  try {
    await swap.keep()
    scope.throwIfAborted()
    swap.apply()
  } finally {
    await swap.close()
  }
  await syncPlace(place)
  return swap.written
}
