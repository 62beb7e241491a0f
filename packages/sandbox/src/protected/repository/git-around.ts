import { dirname, join } from 'node:path'
import { isWithin } from '@tool-hub/core/lib'
import { realPath, statsIfThere } from '../../system/index.ts'
import { FileMemo } from '../disk/index.ts'
import { type NamedPlaces, placesNamedBy, readOwnSettings } from './git-settings.ts'

/** Places behind links have two paths. */
interface Named extends NamedPlaces {
  readonly real: readonly string[]
}

const NOTHING: Named = { places: [], ways: [], real: [] }

/**
 * Knows what git runs or reads because of the owner's settings: hooks elsewhere, included files, scripts of filters and
 * aliases. The repository may begin above the roots.
 */
export class GitAround {
  readonly #named = new FileMemo<Named>()

  /** Whether a path is one of these, because of a repository around it. */
  names(path: string): boolean {
    return this.around(path).some(({ places, real }) =>
      [...places.map((place) => place.path), ...real].some((place) => isWithin(place, path)),
    )
  }

  /** What the repositories around a path name. */
  around(path: string): Named[] {
    return workTreesAround(path).map((workTree) => this.placesOf(join(workTree, '.git')))
  }

  /** What a repository names: a `.git`, or a bare repository. */
  placesOf(path: string): Named {
    return this.#named.get(path, (note) => {
      const own = readOwnSettings(path, note)
      if (!own) return NOTHING
      const named = placesNamedBy(own, note)
      return { ...named, real: named.places.map((place) => realPath(place.path)) }
    })
  }
}

/** The work trees around paths, the innermost one of the first path first. */
export function workTreesAround(...paths: readonly string[]): string[] {
  const folders = new Set<string>()
  for (const path of paths)
    for (let folder = dirname(path); !folders.has(folder); folder = dirname(folder)) folders.add(folder)
  return [...folders].filter((folder) => statsIfThere(join(folder, '.git')))
}
