/**
 * Sample documents of any size for Word files: sections, steps and sub-steps with about eight blocks of rich
 * text.
 */

/** A node. Its rich text is JSON text, as stored. */
export interface SampleNode {
  node_type: 'section' | 'step' | 'sub_step';
  title: string;
  content: string;
  children: SampleNode[];
}

/** A sample document. */
export interface Sample {
  title: string;
  version: string;
  department: string;
  published_at: string;
  organization: string;
  nodes: SampleNode[];
}

/** Creates a document of `count` nodes. */
export function createSample(count: number): Sample {
  let created = 0;
  const node = (node_type: SampleNode['node_type'], ...below: (() => SampleNode[])[]): SampleNode[] => {
    if (created >= count) return [];
    created += 1;
    const number = created;
    const content = JSON.stringify({ type: 'doc', content: createBlocks(number) });
    return [
      {
        node_type,
        title: `Part ${number}`,
        content,
        children: below.flatMap((createNodes) => createNodes()),
      },
    ];
  };
  const leaf = () => node('sub_step');
  const step = () => node('step', leaf, leaf);
  const nodes: SampleNode[] = [];
  while (created < count) nodes.push(...node('section', step, step));
  const fields = {
    title: 'A procedure',
    version: '1.0',
    department: 'Operations',
    organization: 'Aldermoor',
  };
  return { ...fields, published_at: '2026-01-02T03:04:05.678Z', nodes };
}

function createBlocks(number: number): unknown[] {
  const words = `In part ${number} the person on duty looks at the queue & decides within ${(number % 50) + 1} minutes.`;
  return [
    paragraph(text(words)),
    paragraph(
      text('Call '),
      text('the duty manager', 'bold'),
      text(' and write down '),
      text('when', 'italic'),
      text('.'),
    ),
    list('bulletList', ['the time of the alarm', 'who was called', `what was found in part ${number}`]),
    paragraph(text(`${words} ${words}`)),
    list('orderedList', ['stop the transfer', 'keep the log', 'tell the customer']),
    { type: 'blockquote', content: [paragraph(text('Nobody is blamed for a false alarm.'))] },
    {
      type: 'table',
      content: [row('tableHeader', 'Queue', 'Limit'), row('tableCell', `Q${number}`, `${number % 90} s`)],
    },
    paragraph(text(words)),
  ];
}

function text(value: string, mark?: string) {
  return { type: 'text', text: value, ...(mark && { marks: [{ type: mark }] }) };
}

function paragraph(...content: unknown[]) {
  return { type: 'paragraph', content };
}

function list(type: string, items: string[]) {
  return { type, content: items.map((item) => ({ type: 'listItem', content: [paragraph(text(item))] })) };
}

function row(type: string, ...cells: string[]) {
  return { type: 'tableRow', content: cells.map((cell) => ({ type, content: [paragraph(text(cell))] })) };
}
