import { EyeOff, Wrench } from 'lucide-react'
import { useMemo, useRef } from 'react'
import { Link } from 'wouter'
import { api } from '../../api/session.ts'
import type { ToolEntry } from '../../api/types.ts'
import { useResource } from '../../api/use-resource.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { FilterBar, SearchField } from '../../components/filters.tsx'
import { Page } from '../../components/page.tsx'
import { Loaded } from '../../components/resource.tsx'
import { EmptyState } from '../../components/states.tsx'
import { useRowKeys } from '../../components/table.tsx'
import { VisibleText } from '../../components/text.tsx'
import { useMediaQuery, useSettled } from '../../lib/hooks.ts'
import { useShortcut } from '../../lib/shortcuts.ts'
import { navigate, useSearchParam } from '../../router/router.ts'
import type { PageProps } from '../../router/routes.tsx'
import { CapabilityIcons, CapabilityLegend } from './capabilities.tsx'
import { findTools, toolPath } from './find-tools.ts'
import { ToolPanel } from './tool-panel.tsx'
import styles from './tools.module.css'

const MAX_SEARCH_CHARS = 2_000

/** The list of tools, and the selected tool: its schema, and a form to try it. */
export default function ToolsPage({ params: { tool } }: PageProps) {
  const query = useResource(['tools'], () => api.tools({ hidden: true }), {
    refreshOn: ['tools-changed', 'policy-changed'],
  })
  const isWide = useMediaQuery('(min-width: 1080px)')
  return (
    <Page title="Tools" description="The tools that agents can call, with a form to try them." fill>
      <Loaded query={query}>
        {(tools) => {
          // There is room for a tool next to the list: the first one until another is selected.
          const shown = tool ?? (isWide ? firstTool(tools) : undefined)
          return (
            <div className={styles.split}>
              {(isWide || tool === undefined) && <Catalogue tools={tools} selected={shown} />}
              {(isWide || tool !== undefined) && <ToolPanel tools={tools} tool={shown} isAlone={!isWide} />}
            </div>
          )
        }}
      </Loaded>
    </Page>
  )
}

/** The names of the tools that do what a text says, best first. */
async function searchTools(text: string): Promise<string[]> {
  if (text === '') return []
  const found = await api.tools({ search: text.slice(0, MAX_SEARCH_CHARS) })
  return found.map(({ tool }) => tool)
}

function firstTool(tools: readonly ToolEntry[]): string | undefined {
  const [group] = findTools(tools, { text: '', withHidden: false })
  return group?.tools[0]?.tool
}

/** The tools by group, with a search; j and k move through them. */
function Catalogue({ tools, selected }: { tools: readonly ToolEntry[]; selected: string | undefined }) {
  const [text, setText] = useSearchParam('text')
  const [hidden, setHidden] = useSearchParam('hidden')
  const list = useRef<HTMLElement>(null)
  const withHidden = hidden === 'show'
  const wanted = useSettled(text.trim())
  const { data: found } = useResource(['tools', 'search', wanted], () => searchTools(wanted))
  const groups = useMemo(
    () => findTools(tools, { text, withHidden, found: text.trim() === wanted ? found : undefined }),
    [tools, text, withHidden, found, wanted],
  )
  const rows = groups.flatMap((group) => group.tools)
  const hiddenCount = tools.filter(({ visible }) => !visible).length
  useRowKeys({
    rows,
    rowKey: ({ tool }) => tool,
    selected,
    onActive: ({ tool }) => navigate(toolPath(tool), { replace: true }),
    scrollTo: (index) => list.current?.querySelectorAll('a')[index]?.scrollIntoView({ block: 'nearest' }),
  })
  const toggle = () => setHidden(withHidden ? '' : 'show')
  useShortcut('h', 'Show or hide the hidden tools', toggle, { when: hiddenCount > 0 })
  return (
    <section className={styles.catalogue} aria-label="Catalogue">
      <FilterBar summary={`${rows.length.toLocaleString('en')} of ${tools.length.toLocaleString('en')} tools`}>
        <SearchField label="Search tools" value={text} onChange={setText} />
        {hiddenCount > 0 && (
          <Button size="small" shortcut="h" aria-pressed={withHidden} onClick={toggle}>
            {withHidden ? 'Hide' : 'Show'} {hiddenCount} hidden
          </Button>
        )}
      </FilterBar>
      {rows.length === 0 && (
        <NoTools isSearch={text !== ''} onClear={() => setText('')} hidden={withHidden ? 0 : hiddenCount} />
      )}
      {rows.length > 0 && (
        <nav ref={list} className={styles.list} aria-label="Tools">
          {groups.map(({ group, tools: members }) => (
            <section key={group} aria-label={`Group ${group}`}>
              <h2 className={styles.group}>
                {group} <span className={styles.count}>{members.length}</span>
              </h2>
              <ul className={styles.members}>
                {members.map((tool) => (
                  <ToolLink key={tool.tool} tool={tool} isCurrent={tool.tool === selected} />
                ))}
              </ul>
            </section>
          ))}
        </nav>
      )}
      <CapabilityLegend tools={rows} />
    </section>
  )
}

function NoTools({ isSearch, onClear, hidden }: { isSearch: boolean; onClear: () => void; hidden: number }) {
  const some = hidden > 0 ? ` ${hidden} hidden tools are not shown.` : ''
  if (isSearch)
    return (
      <EmptyState icon={Wrench} title="No tool matches" action={<Button onClick={onClear}>Clear the search</Button>}>
        Search for another word of its name, description or capabilities.{some}
      </EmptyState>
    )
  return (
    <EmptyState icon={Wrench} title="There are no tools">
      The profile of your token, or <code>tools</code> in tool-hub.yaml, hides all of them.{some} Connect a server with{' '}
      <code>tool-hub mcp add</code>.
    </EmptyState>
  )
}

/** A tool in the list: its name, title and capabilities. */
function ToolLink({ tool, isCurrent }: { tool: ToolEntry; isCurrent: boolean }) {
  const { tool: name, title, visible, why, capabilities } = tool
  return (
    <li className={styles.item}>
      <Link to={toolPath(name)} className={styles.link} aria-current={isCurrent ? 'true' : undefined}>
        <span className={styles.name}>
          <VisibleText text={name} />
        </span>
        <CapabilityIcons capabilities={capabilities} />
        {title !== undefined && (
          <span className={styles.title}>
            <VisibleText text={title} />
          </span>
        )}
        {!visible && (
          <span className={styles.why}>
            <Badge icon={EyeOff}>hidden</Badge> <VisibleText text={why ?? ''} />
          </span>
        )}
      </Link>
    </li>
  )
}
