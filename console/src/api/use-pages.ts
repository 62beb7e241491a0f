import { useEffect, useRef, useState } from 'react'
import { showFailure } from '../components/show-failure.ts'
import { mergePage, type PageOrder } from './merge-page.ts'
import { type QueryOptions, useQuery } from './use-query.ts'

/** A page of a list; `next` is the `before` of the one after it. */
interface Page<Item, Cursor> {
  readonly items: readonly Item[]
  readonly next?: Cursor
}

interface PagesOptions<Item> extends PageOrder<Item>, QueryOptions {
  /** What they are, for the words of a failure: `messages`. */
  readonly what: string
}

/** A list of any length: its first page as it changes, later ones when `loadMore` is called. Its key must not change. */
export function usePages<Item extends { readonly id: string }, Cursor extends string | number>(
  key: string,
  load: (before?: Cursor) => Promise<Page<Item, Cursor>>,
  { what, compare, keepsGone, ...options }: PagesOptions<Item>,
) {
  const query = useQuery(key, () => load(), options)
  const [items, setItems] = useState<readonly Item[]>(() => query.data?.items ?? [])
  // Where the next page begins: told by the first page at first, then by the last one that was loaded.
  const [next, setNext] = useState<{ cursor: Cursor | undefined }>()
  const isLoading = useRef(false)
  const order = useRef({ compare, keepsGone })

  useEffect(() => {
    const fresh = query.data
    if (!fresh) return
    const page = { items: fresh.items, isLast: fresh.next === undefined }
    setItems((known) => mergePage(known, page, order.current))
  }, [query.data])

  const before = next === undefined ? query.data?.next : next.cursor
  const loadMore = async () => {
    if (isLoading.current || before === undefined) return
    isLoading.current = true
    try {
      const page = await load(before)
      setItems((known) => mergePage(known, { items: page.items, isLast: false }, { compare, keepsGone: true }))
      setNext({ cursor: page.next })
    } catch (error) {
      showFailure(`Older ${what} were not loaded`, error)
    } finally {
      isLoading.current = false
    }
  }
  return { query, items, setItems, hasMore: before !== undefined, loadMore: () => void loadMore() }
}
