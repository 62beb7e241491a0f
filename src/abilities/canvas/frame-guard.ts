/**
 * The first script of every canvas. The policy of the page keeps fetches, forms, windows and other addresses away; what no
 * policy of a page reaches is kept away here: WebRTC, and frames within the frame, which would have it anew. It takes all
 * that it uses before anybody else's script can change it.
 */
export const FRAME_GUARD = `(() => {
  const bind = (method) => Function.prototype.call.bind(method)
  const getter = (owner, name) => bind(Object.getOwnPropertyDescriptor(owner.prototype, name).get)
  const drop = (owner, names) => { for (const name of names) if (owner) delete owner[name] }

  drop(window, ['RTCPeerConnection', 'webkitRTCPeerConnection', 'mozRTCPeerConnection', 'RTCDataChannel', 'WebTransport',
    'WebSocketStream', 'XSLTProcessor', 'PresentationRequest', 'PaymentRequest'])
  // Shadow roots by markup, and a document written anew, would not be watched.
  drop(Document.prototype, ['open', 'close', 'write', 'writeln', 'streamHTMLUnsafe'])
  drop(Document, ['parseHTMLUnsafe'])
  for (const owner of [Element, ShadowRoot])
    for (const name of Object.getOwnPropertyNames(owner.prototype)) if (/HTMLUnsafe$/.test(name)) delete owner.prototype[name]

  // A link goes nowhere from here; within the page it does, which the browser would take for another address.
  addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a') : null
    const place = link?.getAttribute('href') ?? link?.getAttribute('xlink:href')
    if (place == null) return
    event.preventDefault()
    if (place.startsWith('#')) document.getElementById(decodeURIComponent(place.slice(1)))?.scrollIntoView()
  })

  const FRAMES = 'iframe, frame, frameset, object, embed, fencedframe, portal'
  const find = [bind(Document.prototype.querySelectorAll), bind(DocumentFragment.prototype.querySelectorAll)]
  const lengthOf = getter(NodeList, 'length')
  const item = bind(NodeList.prototype.item)
  const remove = bind(Element.prototype.remove)
  const observe = bind(MutationObserver.prototype.observe)
  const addRoot = bind(Set.prototype.add)
  const eachRoot = bind(Set.prototype.forEach)
  const roots = new Set()
  const clear = (list) => { for (let at = lengthOf(list) - 1; at >= 0; at--) remove(item(list, at)) }
  const observer = new MutationObserver(() => {
    clear(find[0](document, FRAMES))
    eachRoot(roots, (root) => clear(find[1](root, FRAMES)))
  })
  observe(observer, document, { childList: true, subtree: true })
  const attach = bind(Element.prototype.attachShadow)
  Element.prototype.attachShadow = function attachShadow(init) {
    // A clone of it would not be watched.
    const root = attach(this, { mode: init?.mode, delegatesFocus: init?.delegatesFocus === true })
    addRoot(roots, root)
    observe(observer, root, { childList: true, subtree: true })
    return root
  }
})()`
