import { RED_PIXEL } from './samples.mjs'

const RESOURCES = [
  {
    uri: 'test://static-text',
    name: 'static-text',
    description: 'A text.',
    mimeType: 'text/plain',
    text: 'This is the content of the static text resource.',
  },
  {
    uri: 'test://static-binary',
    name: 'static-binary',
    description: 'An image.',
    mimeType: 'image/png',
    blob: RED_PIXEL,
  },
  {
    uri: 'test://watched-resource',
    name: 'watched',
    description: 'A text.',
    mimeType: 'text/plain',
    text: 'Unchanged.',
  },
]
const TEMPLATE = {
  uriTemplate: 'test://template/{id}/data',
  name: 'template',
  description: 'Data by id.',
  mimeType: 'application/json',
}
const BY_TEMPLATE = /^test:\/\/template\/([^/]+)\/data$/

/** Adds resources in addition to the artifacts, which stay the server's own. */
export function addResources(server, { era, answer }) {
  server.setRequestHandler('resources/list', async (request, context) => {
    const own = await answer(request, context)
    const resources = RESOURCES.map(({ text, blob, ...resource }) => resource)
    return { ...own, resources: [...own.resources, ...resources] }
  })
  server.setRequestHandler('resources/templates/list', async (request, context) => {
    const own = await answer(request, context)
    return { ...own, resourceTemplates: [...own.resourceTemplates, TEMPLATE] }
  })
  server.setRequestHandler('resources/read', async (request, context) => {
    const found = contentOf(request.params.uri)
    return found ? { contents: [found] } : answer(request, context)
  })
  if (era === 'modern') return
  server.registerCapabilities({ resources: { subscribe: true } })
  server.setRequestHandler('resources/subscribe', () => ({}))
  server.setRequestHandler('resources/unsubscribe', () => ({}))
}

function contentOf(uri) {
  const resource = RESOURCES.find((each) => each.uri === uri)
  if (resource) return { uri, mimeType: resource.mimeType, text: resource.text, blob: resource.blob }
  const [, id] = BY_TEMPLATE.exec(uri) ?? []
  if (id === undefined) return undefined
  const data = { id, templateTest: true, data: `Data for ID: ${id}` }
  return { uri, mimeType: TEMPLATE.mimeType, text: JSON.stringify(data) }
}
