import { Wrench } from 'lucide-react'
import { useMemo, useRef } from 'react'
import type { ToolEntry } from '../../api/types.ts'
import { Button } from '../../components/button.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { FilterBar } from '../../components/filter-bar.tsx'
import { SearchField } from '../../components/search-field.tsx'
import { useRowKeys } from '../../components/use-row-keys.ts'
import { useShortcut } from '../../keyboard/use-shortcut.ts'
import { navigate, useSearchParam } from '../../router/router.ts'
import { CapabilityLegend } from './capability-legend.tsx'
import styles from './catalogue.module.css'
import { findTools } from './find-tools.ts'
import { ToolLink } from './tool-link.tsx'
import { toolPath } from './tool-path.ts'

/** The tools by group, with a search; j and k go through them. */
export function Catalogue({ tools, selected }: { tools: readonly ToolEntry[]; selected: string | undefined }) {
  const [text, setText] = useSearchParam('text')
  const [hidden, setHidden] = useSearchParam('hidden')
  const list = useRef<HTMLElement>(null)
  const withHidden = hidden === 'show'
  const groups = useMemo(() => findTools(tools, { text, withHidden }), [tools, text, withHidden])
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
            {withHidden ? 'Leave out' : 'Show'} {hiddenCount} hidden
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
  const some = hidden > 0 ? ` ${hidden} hidden ones are left out.` : ''
  if (isSearch)
    return (
      <EmptyState icon={Wrench} title="No tool fits" action={<Button onClick={onClear}>Clear the search</Button>}>
        Search for another word of its name, description or capabilities.{some}
      </EmptyState>
    )
  return (
    <EmptyState icon={Wrench} title="You see no tools">
      Your token’s profile, or <code>tools</code> in tool-hub.yaml, shows you none.{some} Connect a server with{' '}
      <code>tool-hub mcp add</code>.
    </EmptyState>
  )
}
