import { useEffect, useRef, useState } from 'react'
import { showFailure } from '../components/toast.tsx'
import { mergePage, type PageOrder } from './merge-page.ts'
import type { ResourceKey } from './query-client.ts'
import { type ResourceOptions, useResource } from './use-resource.ts'

/** A page of a list; `next` is the `before` of the page that follows it. */
interface ListPage<Item, Cursor> {
  readonly items: readonly Item[]
  readonly next?: Cursor
}

interface PagesOptions<Item> extends PageOrder<Item>, ResourceOptions {
  /** What the items are, for error messages: `messages`. */
  readonly what: string
}

/**
 * A list of any length. Its first page is kept up to date, later pages are fetched by `loadMore`. Give the component a
 * `key` for each resource key: the items of another list do not belong in this one.
 */
export function usePages<Item extends { readonly id: string }, Cursor extends string | number>(
  key: ResourceKey,
  load: (before?: Cursor) => Promise<ListPage<Item, Cursor>>,
  { what, compare, keepsGone, ...options }: PagesOptions<Item>,
) {
  const query = useResource(key, () => load(), options)
  const [items, setItems] = useState<readonly Item[]>(() => query.data?.items ?? [])
  // Where the next page starts: as the first page says at first, then as the last page that was loaded says.
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
