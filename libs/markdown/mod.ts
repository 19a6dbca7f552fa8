/** The public interface of libs/markdown. It is not in rich-text, because few processes need the mdast packages. */
export { toMarkdown } from './markdown.ts';
