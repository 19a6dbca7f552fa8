/** Sample documents for the rows. */

/** A document of 200 nodes: 8 sections of 4 steps of 5 sub-steps, each with about 1 KB of rich text. */
export const bigDocument = threeLevels('A procedure of 200 nodes', [8, 4, 5]);

/** A document of ten nodes: 2 sections of 4 steps. */
export const smallDocument = {
  title: 'A procedure of ten nodes',
  version: '1.0',
  department: 'Operations',
  nodes: times(2, (section) => ({
    node_type: 'section',
    title: `Section ${section}`,
    children: times(4, (step) => ({
      node_type: 'step',
      title: `Step ${section}.${step}`,
      content: richText(step),
    })),
  })),
};

/**
 * A document of 10,000 nodes, the maximum: 100 sections of 9 steps of 10 sub-steps, each with about 1 KB of
 * rich text.
 */
export const hugeDocument = threeLevels('A procedure of 10,000 nodes', [100, 9, 10]);

/**
 * Creates a tree with these numbers of sections, steps per section and sub-steps per step, each with text.
 */
function threeLevels(title: string, [sections, steps, subs]: readonly [number, number, number]) {
  return {
    title,
    version: '1.0',
    department: 'Operations',
    nodes: times(sections, (section) => ({
      node_type: 'section',
      title: `Section ${section}`,
      content: richText(section),
      children: times(steps, (step) => ({
        node_type: 'step',
        title: `Step ${section}.${step}`,
        content: richText(step),
        children: times(subs, (sub) => ({
          node_type: 'sub_step',
          title: `Sub-step ${section}.${step}.${sub}`,
          content: richText(sub),
        })),
      })),
    })),
  };
}

function times<T>(count: number, make: (number: number) => T): T[] {
  return Array.from({ length: count }, (_, at) => make(at + 1));
}

function richText(seed: number): object {
  const text = (words: string, ...marks: string[]) => ({
    type: 'text',
    ...(marks.length > 0 && { marks: marks.map((type) => ({ type })) }),
    text: words,
  });
  const paragraph = (...content: object[]) => ({ type: 'paragraph', content });
  return {
    type: 'doc',
    content: [
      paragraph(
        text('Before anything else, make sure that '),
        text('nobody else', 'bold'),
        text(` works on line ${seed}; then say on the channel of the shift what you are going to do.`),
      ),
      {
        type: 'bulletList',
        content: times(3, (item) => ({
          type: 'listItem',
          content: [
            paragraph(text(`Check number ${item}: the lamp is `), text(item % 2 ? 'green' : 'off', 'italic')),
          ],
        })),
      },
      paragraph(text('If it is not, stop here and call the person on duty.')),
    ],
  };
}
