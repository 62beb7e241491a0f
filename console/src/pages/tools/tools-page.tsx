import { api } from '../../api/api.ts'
import type { ToolEntry } from '../../api/types.ts'
import { useQuery } from '../../api/use-query.ts'
import { Loaded } from '../../components/loaded.tsx'
import { Page } from '../../components/page.tsx'
import type { PageProps } from '../../router/routes.tsx'
import { useMediaQuery } from '../../state/use-media-query.ts'
import { Catalogue } from './catalogue.tsx'
import { findTools } from './find-tools.ts'
import { ToolPanel } from './tool-panel.tsx'
import styles from './tools-page.module.css'

/** The catalogue, and one tool of it: what it does, takes and gives, and a form to try it. */
export default function ToolsPage({ params: { tool } }: PageProps) {
  const query = useQuery('tools', () => api.tools({ hidden: true }), { refreshOn: ['tools-changed', 'policy-changed'] })
  const isWide = useMediaQuery('(min-width: 1080px)')
  return (
    <Page title="Tools" description="What agents can call here, and a form to try it." fill>
      <Loaded query={query}>
        {(tools) => {
          // Beside the list there is room for a tool: the first one until another is chosen.
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

function firstTool(tools: readonly ToolEntry[]): string | undefined {
  const [group] = findTools(tools, { text: '', withHidden: false })
  return group?.tools[0]?.tool
}
