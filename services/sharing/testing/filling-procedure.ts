/** A long procedure of 40 nodes with wide tables, long words, pictures, nested lists and callouts. */
import type { RichText } from '#libs/rich-text';
import { doc, li, node, nodeWith, p, text } from '../../../tests/fixtures/generators/rich-text.ts';
import { limits, log, parts, responsibilities } from './filling-tables.ts';
import { drawBarChart, drawFlow } from './pictures.ts';

interface SampleNode {
  node_type: 'section' | 'step' | 'sub_step';
  title: string;
  content?: RichText;
  children?: SampleNode[];
}

const toNode =
  (node_type: SampleNode['node_type']) =>
  (title: string, content: RichText[] = [], children: SampleNode[] = []): SampleNode => ({
    node_type,
    title,
    ...(content.length > 0 && { content: doc(...content) }),
    children,
  });
const section = toNode('section');
const step = toNode('step');
const subStep = toNode('sub_step');

const bullets = (...items: RichText[]) => node('bulletList', ...items);
const numbers = (...items: RichText[]) => node('orderedList', ...items);
const task = (value: string, checked = false) => nodeWith('taskItem', { checked }, p(value));
const tasks = (...items: RichText[]) => node('taskList', ...items);
const callout = (kind: string, ...blocks: RichText[]) => nodeWith('callout', { kind }, ...blocks);
const picture = (src: string, alt: string) => p(nodeWith('image', { src, alt }));
const bold = (value: string) => text(value, 'bold');
const purpose =
  'This procedure describes how filling line 3 is set up, released, operated and cleaned so that every vial of sterile product meets its specification. It applies to every batch and to every media fill.';

const gowning = numbers(
  li('Take off watch, jewellery and make-up. Wash hands and forearms for 60 seconds.'),
  li(
    'Put on the sterile garments in this order:',
    numbers(
      li('hood, tucked in completely,'),
      li(
        'overall, which never touches the floor:',
        bullets(li('roll up both legs before you step in,'), li('close the collar over the hood.')),
      ),
      li('overboots, fastened above the overall.'),
    ),
  ),
  li('Disinfect the gloves with 70 % isopropanol and let them dry.'),
);

const sections: SampleNode[] = [
  section(
    'Purpose and scope',
    [p(purpose)],
    [
      step('Products and line', [
        p(
          'Filling line 3, room 2.114, grade A in background grade B. Products: all aqueous parenterals in vials of 2 ml to 50 ml.',
        ),
      ]),
      step('References', [
        bullets(
          li('EU GMP Annex 1, Manufacture of sterile medicinal products'),
          li('Validation report VR-2025-031, Reinigungsvalidierungszusammenfassungsbericht'),
        ),
      ]),
      step(
        'Definitions',
        [p(bold('Media fill: '), 'a simulation of aseptic filling with a growth medium.')],
        [subStep('Alert limit'), subStep('Action limit')],
      ),
    ],
  ),
  section(
    'Responsibilities',
    [responsibilities],
    [
      step('Training'),
      step('Records of training', [p('Records are stored for five years.')]),
      step('Substitution', [p('A deputy acts only after a written handover in the shift log.')]),
    ],
  ),
  section(
    'Safety',
    [
      callout(
        'danger',
        p(
          'Crushing hazard. The star wheel starts without warning. Keep your hands out of the machine until the main switch is locked.',
        ),
      ),
      callout(
        'warning',
        p('Peracetic acid burns skin and eyes. Wear goggles and gloves of class 3.'),
        bullets(li('Rinse splashes for 15 minutes.'), li('Call the emergency number 2222.')),
      ),
      callout(
        'caution',
        p(
          'The sterilization tunnel reaches 320 °C at the inlet. Let vials cool down before you remove them by hand.',
        ),
      ),
      callout('note', p('Line 3 has its own spill kit, beside door 2.114-A.')),
    ],
    [
      step('Lockout'),
      step('Spills', [
        tasks(
          task('Stop the filler.', true),
          task('Cover the spill with absorbent pads.', true),
          task('Record the spill in the batch record.'),
        ),
      ]),
    ],
  ),
  section(
    'Set-up',
    [
      p('Set up the line from the filling needles outwards. The picture shows the flow of vials.'),
      picture(drawFlow(960, 360), 'Flow of vials: washer, tunnel, filler, stoppering, capping'),
    ],
    [
      step('Gowning', [gowning]),
      step(
        'Parts',
        [p('Use only parts with a valid sterilization label.'), parts],
        [
          subStep('Filling needles', [
            p('Insert the needles until they click. Check the height with gauge G-12.'),
          ]),
          subStep('Tubing'),
          subStep('Stopper bowl'),
        ],
      ),
      step(
        'Line clearance',
        [
          tasks(
            task('No material of the previous batch is on the line.'),
            task('Counters are at zero.'),
            task('The label of the new batch is in place.'),
          ),
        ],
        [subStep('Verification by quality assurance')],
      ),
      step('Priming', [p('Prime with 500 ml of product and discard it.')]),
    ],
  ),
  section(
    'Filling',
    [p('Start the line only after the shift supervisor has signed the clearance.')],
    [
      step(
        'In-process controls and their limits',
        [limits, callout('note', p('Alert limits start an investigation. Action limits stop the line.'))],
        [subStep('Fill volume'), subStep('Differential pressure'), subStep('Stopper force')],
      ),
      step('Trend of the fill volume', [
        p('The chart shows a normal shift; compare yours with it.'),
        picture(drawBarChart(640, 1500), 'Fill volume in 24 checks, all within the alert limits'),
      ]),
      step('Interventions', [p('Every intervention is recorded with time, reason and initials.')]),
      step('Log of a shift', [log]),
    ],
  ),
  section(
    'End of the batch',
    [],
    [
      step('Reconciliation', [
        p('Filled, rejected and sampled vials must add up to the number of vials loaded.'),
      ]),
      step('Cleaning', [
        nodeWith(
          'codeBlock',
          { language: 'text' },
          'PROGRAMME 7\nrinse 60 s  wash 300 s 65 C  rinse 120 s  dry 600 s 90 C',
        ),
      ]),
      step('Handover'),
    ],
  ),
  section(
    'Deviations',
    [node('blockquote', p('A deviation that is not written down has happened twice.'))],
    [step('Classification'), step('Escalation')],
  ),
  section(
    'Annexes',
    [p('Forms F-301 to F-309 are issued by document control.')],
    [step('Forms'), step('Change history')],
  ),
];

/** The procedure as a request body of `createDocument`. */
export const fillingProcedure = {
  title: 'Aseptic filling of vials on line 3: set-up, in-process control and cleaning',
  version: '4.2',
  department: 'Sterile Production',
  nodes: sections,
};
