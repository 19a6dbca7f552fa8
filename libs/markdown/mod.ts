/** The public interface of libs/markdown. Apart from rich text, because few of its readers need the mdast packages. */
export { toMarkdown } from './markdown.ts';
