/** The tables of the sample procedure: wide, long, and with long words. */
import type { RichText } from '#libs/rich-text';
import { node, p } from '../../../tests/fixtures/generators/rich-text.ts';

const head = (...titles: string[]) => node('tableRow', ...titles.map((one) => node('tableHeader', p(one))));
const row = (first: string, ...cells: string[]) =>
  node('tableRow', node('tableHeader', p(first)), ...cells.map((one) => node('tableCell', p(one))));
const table = (...rows: RichText[]) => node('table', ...rows);

/** Four columns with long sentences. */
export const responsibilities = table(
  head('Role', 'Responsible for', 'Trained in', 'Deputy'),
  row(
    'Line operator',
    'Set-up, in-process controls every 30 minutes, entries in the batch record',
    'SOP-114, SOP-207',
    'Second operator',
  ),
  row(
    'Shift supervisor',
    'Release of the line, decisions on stops longer than 10 minutes, line clearance',
    'SOP-114, SOP-207, SOP-311',
    'Production manager',
  ),
  row(
    'Quality assurance',
    'Verification of line clearance, assessment of deviations, release of the batch',
    'SOP-001 to SOP-020',
    'Deputy head of quality assurance',
  ),
);

/** Eight columns, most of them narrow. */
export const limits = table(
  head(
    'Parameter',
    'Unit',
    'Target',
    'Alert',
    'Action',
    'Interval',
    'Instrument',
    'What to do beyond the action limit',
  ),
  row(
    'Fill volume',
    'ml',
    '10.20',
    '± 0.10',
    '± 0.20',
    '30 min',
    'Balance WG-04',
    'Stop the filler, segregate all vials since the last good check and call the shift supervisor.',
  ),
  row(
    'Differential pressure',
    'Pa',
    '15',
    '12',
    '10',
    'continuous',
    'Manometer DP-31',
    'Close the product valve. Restart only after requalification of the laminar air flow.',
  ),
  row('Stopper force', 'N', '42', '38', '35', '60 min', 'Tester ST-02', 'Replace the stopper rail.'),
  row(
    'Temperature',
    '°C',
    '20',
    '23',
    '25',
    'continuous',
    'Logger T-118',
    'Hold the batch; quality assurance decides.',
  ),
  row(
    'Viable particles',
    'CFU/m³',
    '0',
    '1',
    '1',
    '4 h',
    'Sampler MAS-100',
    'Open a deviation, identify the organism and assess all units filled since the last negative plate.',
  ),
);

/** Six columns with a long German word. */
export const parts = table(
  head('Part', 'Material', 'Cleaning', 'Sterilization', 'Assembly order', 'Torque'),
  row(
    'Filling needle 1–8',
    'Stainless steel 1.4435',
    'Ultrasonic bath, 15 min, 60 °C',
    'Autoclave, 121 °C, 20 min',
    '1',
    '0.8 Nm',
  ),
  row('Peristaltic tubing', 'Platinum-cured silicone', 'Single use', 'Gamma, 25 kGy', '2', '–'),
  row('Stopper bowl', 'Aluminium, anodized', 'Washer, programme 7', 'Autoclave, 121 °C, 20 min', '3', '4 Nm'),
  row(
    'Polytetrafluorethylen-Dichtungssatz',
    'PTFE',
    'Washer, programme 7',
    'Autoclave, 121 °C, 20 min',
    '4',
    '1.2 Nm',
  ),
);

/** A table of several pages. */
export const log = table(
  head('Check', 'Time', 'Result', 'Initials'),
  ...Array.from({ length: 26 }, (_, at) =>
    row(
      `In-process control ${at + 1}`,
      `${String(6 + Math.floor(at / 2)).padStart(2, '0')}:${at % 2 ? '30' : '00'}`,
      'Within limits',
      '__________',
    ),
  ),
);
