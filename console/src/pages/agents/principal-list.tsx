import { Bot } from 'lucide-react'
import type { PrincipalEntry } from '../../api/types.ts'
import type { QueryResult } from '../../api/use-query.ts'
import { EmptyState } from '../../components/empty-state.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { Table } from '../../components/table.tsx'
import { navigate } from '../../router/router.ts'
import { PRINCIPAL_COLUMNS } from './principal-columns.tsx'
import { principalPath } from './principal-path.ts'

interface PrincipalListProps {
  readonly query: QueryResult<PrincipalEntry[]>
  readonly opened: string
}

/** Who uses the hub, the one seen last first. */
export function PrincipalList({ query, opened }: PrincipalListProps) {
  return (
    <Loaded query={query}>
      {(principals) => (
        <Table
          label="Agents"
          rows={principals}
          columns={PRINCIPAL_COLUMNS}
          rowKey={({ name }) => name}
          onOpen={({ name }) => navigate(principalPath(name))}
          selected={opened}
          tone={({ waiting }) => (waiting > 0 ? 'warn' : undefined)}
          empty={
            <EmptyState icon={Bot} title="Nobody uses the hub yet">
              Make a token for each agent on the Tokens page, or connect one to <code>/mcp</code> on this address.
            </EmptyState>
          }
        />
      )}
    </Loaded>
  )
}
