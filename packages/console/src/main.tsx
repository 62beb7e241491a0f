/*
 * CONTEXT: how to write a page.
 *
 * - A page is `pages/<section>/<name>-page.tsx` with a default export that takes `PageProps`; router/routes.tsx gives it a
 *   path. It is loaded when it is first opened. Code that several pages use is in components/, code about calls in calls/,
 *   and code without components in lib/.
 * - It renders a `<Page title=…>` (`fill` if a table scrolls inside), or a `<ViewsPage>` with several views as tabs. Data comes
 *   from `useResource(['runs'], () => api.runs.list(), { refreshOn: ['run'] })`, or from `usePages` for long lists. `<Loaded>`,
 *   `<ResourceTable>` and `<ResourceSplit>` show it, including its placeholder and its error. A change is a `useAction`,
 *   which shows a failure as a toast and fetches resources again; `<ConfirmButton>` and `<FormDialog>` are the usual
 *   controls for it. `useEvents(listener, ['call'])` gets single events. `useMe()` is the signed-in user and its scopes.
 * - Lists are `<Table>`s below a `<FilterBar>`. Filters are `useSearchParam`s, so that an address restores the view. Empty
 *   lists have an `<EmptyState>` that says what to do next.
 * - Keys: `useShortcut('a', 'Allow', run)`; the help (`?`) lists them.
 * - Text from tools, models and files is always rendered by `<VisibleText>`, `<Code>`, `<JsonView>` or `<DiffView>`.
 * - CSS: one module per page or component, only with the values of styles/tokens.css. A state has an icon or a word, never only a color. No inline styles or scripts: the service sends a strict CSP.
 */
import './styles/tokens.css'
import './styles/base.css'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import { applyTheme } from './lib/theme.ts'

applyTheme()
createRoot(document.getElementById('root') as HTMLElement).render(<App />)
