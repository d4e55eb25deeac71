// Builds the answer from plain values: elements by name, text as text nodes, never as HTML.
const TAGS = new Set([
  "p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "hr", "br",
  "table", "thead", "tbody", "tr", "th", "td", "pre", "code", "strong", "em",
])

export default function (component) {
  const { data, parentElement, setTriggerValue } = component

  const build = (node) => {
    if (typeof node === "string") return document.createTextNode(node)
    if (node.number !== undefined) return marker(node)
    if (node.badge !== undefined) return badge(node)
    const element = document.createElement(TAGS.has(node.tag) ? node.tag : "span")
    element.append(...node.children.map(build))
    return element
  }

  const badge = ({ badge, label }) => {
    const span = document.createElement("span")
    span.className = "badge"
    span.textContent = badge
    span.title = label
    return span
  }

  const marker = ({ kind, number, label }) => {
    const button = document.createElement("button")
    button.type = "button"
    button.className = `marker ${kind === "web" ? "web" : ""}`
    button.textContent = kind === "web" ? `[web ${number}]` : `[${number}]`
    button.title = label
    button.setAttribute("aria-label", `Open source ${number}: ${label}`)
    button.onclick = () => setTriggerValue("opened", { kind, number })
    return button
  }

  parentElement.querySelector(".answer").replaceChildren(...data.nodes.map(build))
}
