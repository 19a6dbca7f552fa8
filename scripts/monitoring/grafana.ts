/** Dashboards as Grafana keeps them, from rows of panels: the JSON model of its documentation, schema version 39. */

/** One line or one number of a panel. */
export interface Line {
  /** PromQL. */
  readonly ask: string;
  /** Its name in the legend, which may use labels: `{{service}}`. */
  readonly name: string;
}

/** A panel, before it has its place. */
export interface Panel {
  readonly title: string;
  /** What one sees, and what is wrong; shown behind the little i. */
  readonly tells: string;
  readonly unit: 's' | 'bytes' | 'percentunit' | 'reqps' | 'ops' | 'short';
  readonly lines: readonly Line[];
  /** A number, or a graph unless said. */
  readonly as?: 'stat' | 'timeseries';
  /** From here on it is red. */
  readonly redFrom?: number;
  /** Below this it is red. */
  readonly redBelow?: number;
}

/** Panels with a heading; so many beside each other as there are, four at most. */
export interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
}

const columns = 24;
const height = { stat: 5, timeseries: 8 };
/** The one variable of every dashboard: which Prometheus is asked. */
const datasource = { type: 'prometheus', uid: '$datasource' };

/** The JSON of a dashboard. */
export function dashboard(options: {
  uid: string;
  title: string;
  tells: string;
  rows: readonly Row[];
}): string {
  let id = 0;
  let y = 0;
  const panels = options.rows.flatMap(({ title, panels: shown }) => {
    id += 1;
    const heading = {
      id,
      type: 'row',
      title,
      collapsed: false,
      panels: [],
      gridPos: { x: 0, y, w: columns, h: 1 },
    };
    y += 1;
    const placed = chunks(shown, 4).flatMap((line) => {
      const w = columns / line.length;
      const h = Math.max(...line.map(({ as = 'timeseries' }) => height[as]));
      const top = y;
      y += h;
      return line.map((panel, at) => {
        id += 1;
        return { id, ...shapeOf(panel), gridPos: { x: at * w, y: top, w, h } };
      });
    });
    return [heading, ...placed];
  });
  const model = {
    uid: options.uid,
    title: options.title,
    description: options.tells,
    tags: ['process-document-service'],
    schemaVersion: 39,
    version: 1,
    editable: false,
    graphTooltip: 1,
    timezone: 'utc',
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    templating: {
      list: [
        {
          name: 'datasource',
          label: 'Prometheus',
          type: 'datasource',
          query: 'prometheus',
          hide: 0,
          refresh: 1,
        },
      ],
    },
    annotations: { list: [] },
    links: [
      {
        title: 'Others',
        type: 'dashboards',
        tags: ['process-document-service'],
        asDropdown: true,
        keepTime: true,
      },
    ],
    panels,
  };
  return `${JSON.stringify(model, null, 2)}\n`;
}

function shapeOf({ title, tells, unit, lines, as = 'timeseries', redFrom, redBelow }: Panel) {
  const steps =
    redBelow === undefined
      ? [
          { color: 'green', value: null },
          ...(redFrom === undefined ? [] : [{ color: 'red', value: redFrom }]),
        ]
      : [
          { color: 'red', value: null },
          { color: 'green', value: redBelow },
        ];
  const isMarked = redFrom !== undefined || redBelow !== undefined;
  return {
    type: as,
    title,
    description: tells,
    datasource,
    fieldConfig: {
      defaults: {
        unit,
        min: 0,
        thresholds: { mode: 'absolute', steps },
        custom: as === 'stat' ? {} : { thresholdsStyle: { mode: isMarked ? 'line' : 'off' }, fillOpacity: 8 },
      },
      overrides: [],
    },
    options:
      as === 'stat'
        ? { reduceOptions: { calcs: ['lastNotNull'], values: false }, colorMode: 'value', graphMode: 'area' }
        : {
            legend: { showLegend: true, displayMode: 'list', placement: 'bottom', calcs: [] },
            tooltip: { mode: 'multi', sort: 'desc' },
          },
    targets: lines.map(({ ask, name }, at) => ({
      refId: String.fromCharCode(65 + at),
      datasource,
      expr: ask,
      legendFormat: name,
      range: as !== 'stat',
      instant: as === 'stat',
    })),
  };
}

function chunks<T>(all: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, at) =>
    all.slice(at * size, (at + 1) * size),
  );
}
