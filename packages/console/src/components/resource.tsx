import { RotateCw } from 'lucide-react'
import type { ReactNode } from 'react'
import type { Resource } from '../api/use-resource.ts'
import { useShortcut } from '../lib/shortcuts.ts'
import { useSearchParam } from '../router/router.ts'
import { Button } from './button.tsx'
import { Note } from './note.tsx'
import { Page, type PageProps, type Tab, Tabs } from './page.tsx'
import { SplitView } from './split-view.tsx'
import { ErrorState, Skeleton } from './states.tsx'
import { Table, type TableProps } from './table.tsx'
import { VisibleText } from './text.tsx'

/*
 * The pattern of a page: a resource (`useResource`, `usePages`) is shown by `Loaded`, as a table by `ResourceTable`, or
 * as a list with details by `ResourceSplit`. `ViewsPage` puts several of them on one page; `RefreshedPage` is a page of
 * one resource that is fetched all the time. `useAction` makes changes.
 */

/** Shows what was fetched, or why it was not; what was there stays while it is fetched again. */
export function Loaded<T>({ query, children }: { query: Resource<T>; children: (data: T) => ReactNode }) {
  if (query.data !== undefined) return children(query.data)
  if (query.error) return <ErrorState error={query.error} onRetry={query.refresh} />
  return <Skeleton />
}

interface RefreshedPageProps<T> extends Omit<PageProps, 'actions' | 'children'> {
  /** A resource with `everyMs`. */
  readonly query: Resource<T>
  readonly children: (data: T) => ReactNode
}

/** A page of one resource that is fetched again and again; it says when what it shows is outdated. */
export function RefreshedPage<T>({ query, children, ...page }: RefreshedPageProps<T>) {
  useShortcut('u', 'Refresh', query.refresh)
  return (
    <Page
      {...page}
      actions={
        <Button icon={RotateCw} shortcut="u" onClick={query.refresh}>
          Refresh
        </Button>
      }
    >
      {query.error && query.data !== undefined && (
        <Note tone="warn" isLive title={<VisibleText text={`Outdated: ${query.error.message}`} />}>
          <p>It is fetched again automatically.</p>
        </Note>
      )}
      <Loaded query={query}>{children}</Loaded>
    </Page>
  )
}

/** A table of a resource. */
export function ResourceTable<Row>({ query, ...table }: TableProps<Row> & { readonly query: Resource<unknown> }) {
  return <Loaded query={query}>{() => <Table {...table} />}</Loaded>
}

interface ResourceSplitProps<T> {
  readonly query: Resource<T>
  readonly list: (data: T) => ReactNode
  readonly above?: ReactNode
  readonly below?: ReactNode
  /** The details of the selected item; nothing if none is selected. */
  readonly detail: ReactNode
}

/** A list of a resource with the selected item next to it. */
export function ResourceSplit<T>({ query, list, above, below, detail }: ResourceSplitProps<T>) {
  return (
    <SplitView
      side={
        <>
          {above}
          <Loaded query={query}>{list}</Loaded>
          {below}
        </>
      }
      detail={detail}
    />
  )
}

/** A view of a page; `shortcut` is the key that shows it, and what the help says about the key. */
interface View extends Tab {
  readonly shortcut?: readonly [key: string, what: string]
}

interface ViewsPageProps extends Omit<PageProps, 'children'> {
  readonly label: string
  readonly views: readonly View[]
  /** Which view is shown at first. Default: the first one. */
  readonly initial?: string
  /** How another view is shown. Default: by the parameter `view` of the address. */
  readonly onSelect?: (id: string) => void
  /** Dialogs and drawers. */
  readonly children?: ReactNode
}

/** A page with several views as tabs; the address says which one is shown. */
export function ViewsPage({ label, views, initial, onSelect, children, ...page }: ViewsPageProps) {
  const [selected, setSelected] = useSearchParam('view', initial ?? views[0]?.id)
  const select = onSelect ?? setSelected
  return (
    <Page {...page}>
      {views.map(
        ({ id, shortcut }) => shortcut && <ViewShortcut key={id} shortcut={shortcut} onPress={() => select(id)} />,
      )}
      <Tabs label={label} fill={page.fill} selected={selected} onSelect={select} tabs={views} />
      {children}
    </Page>
  )
}

function ViewShortcut({
  shortcut: [key, what],
  onPress,
}: {
  shortcut: readonly [string, string]
  onPress: () => void
}) {
  useShortcut(key, what, onPress)
  return null
}
