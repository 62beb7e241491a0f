import { Wrench } from 'lucide-react'
import { useMemo, useState } from 'react'
import { api } from '../../api/api.ts'
import type { ToolEntry } from '../../api/types.ts'
import { useQuery } from '../../api/use-query.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { Drawer } from '../../components/drawer.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { FilterBar } from '../../components/filter-bar.tsx'
import { JsonView } from '../../components/json-view.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { Page } from '../../components/page.tsx'
import { checkValue, type Problems } from '../../components/schema-form/check-value.ts'
import { firstValue } from '../../components/schema-form/json-schema.ts'
import { SchemaForm } from '../../components/schema-form/schema-form.tsx'
import { SearchField } from '../../components/search-field.tsx'
import { showFailure } from '../../components/show-failure.ts'
import { type Column, Table } from '../../components/table.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import { navigate, useSearchParam } from '../../router/router.ts'
import type { PageProps } from '../../router/routes.tsx'

const COLUMNS: readonly Column<ToolEntry>[] = [
  {
    id: 'tool',
    title: 'Tool',
    width: 'minmax(200px, 1fr)',
    narrow: 'title',
    cell: ({ tool }) => <VisibleText text={tool} />,
  },
  {
    id: 'about',
    title: 'About',
    width: 'minmax(200px, 3fr)',
    cell: ({ description }) => <VisibleText text={description} />,
  },
  {
    id: 'seen',
    title: 'Seen',
    width: '112px',
    narrow: 'side',
    cell: ({ visible }) => (visible ? <Badge tone="ok">visible</Badge> : <Badge>hidden</Badge>),
  },
]

/** The catalogue, and a form to try a tool. */
export default function ToolsPage({ params }: PageProps) {
  const [text, setText] = useSearchParam('text')
  const query = useQuery('tools', () => api.tools({ hidden: true }), { refreshOn: ['tools-changed'] })
  const wanted = text.toLowerCase()
  const shown = query.data?.find(({ tool }) => tool === params.tool)
  return (
    <Page title="Tools" fill>
      <FilterBar summary={query.data && `${query.data.length} tools`}>
        <SearchField label="Search tools" value={text} onChange={setText} />
      </FilterBar>
      <Loaded query={query}>
        {(tools) => (
          <Table
            label="Tools"
            rows={tools.filter((tool) => `${tool.tool} ${tool.description}`.toLowerCase().includes(wanted))}
            columns={COLUMNS}
            rowKey={({ tool }) => tool}
            onOpen={({ tool }) => navigate(`/tools/${encodeURIComponent(tool)}`)}
            empty={
              <EmptyState icon={Wrench} title="No such tool">
                Search for another word, or connect a server.
              </EmptyState>
            }
          />
        )}
      </Loaded>
      <Drawer isOpen={shown !== undefined} onClose={() => navigate('/tools')} title={shown?.tool}>
        {shown && <TryTool key={shown.tool} tool={shown} />}
      </Drawer>
    </Page>
  )
}

function TryTool({ tool }: { tool: ToolEntry }) {
  const [value, setValue] = useState(() => firstValue(tool.parameters, tool.parameters))
  const [problems, setProblems] = useState<Problems>()
  const [result, setResult] = useState<unknown>()
  const schema = useMemo(() => tool.parameters, [tool])
  const run = async () => {
    const found = checkValue(schema, value)
    setProblems(found)
    if (found.size > 0) return
    try {
      setResult(await api.call(tool.tool, value, { dryRun: true }))
    } catch (error) {
      showFailure('The tool was not called', error)
    }
  }
  return (
    <>
      <SchemaForm schema={schema} value={value} onChange={setValue} problems={problems} />
      <Button variant="primary" onClick={run}>
        Dry run
      </Button>
      {result !== undefined && <JsonView value={result} label="result" />}
    </>
  )
}
