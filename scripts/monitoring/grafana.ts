/** Renders rows of panels as a dashboard in Grafana's documented JSON model, schema version 39. */

/** A query of a panel: one or more lines, or one number. */
export interface Line {
  /** PromQL. */
  readonly expr: string;
  /** Name in the legend. It may contain labels: `{{service}}`. */
  readonly legend: string;
}

/** A panel without a position. */
export interface Panel {
  readonly title: string;
  /** What the panel shows and which values are a problem. Grafana shows it as a tooltip. */
  readonly description: string;
  readonly unit: 's' | 'bytes' | 'percentunit' | 'reqps' | 'ops' | 'short';
  readonly lines: readonly Line[];
  /** A single number (`stat`) or a graph; default: a graph. */
  readonly type?: 'stat' | 'timeseries';
  /** Values from this one upwards are red. */
  readonly redFrom?: number;
  /** Values below this one are red. */
  readonly redBelow?: number;
}

/** Panels with a heading, up to four per line. */
export interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
}

const columns = 24;
const height = { stat: 5, timeseries: 8 };
/** Every dashboard has one variable: the Prometheus data source. */
const datasource = { type: 'prometheus', uid: '$datasource' };

/** Renders a dashboard as JSON. */
export function renderDashboard(options: {
  uid: string;
  title: string;
  description: string;
  rows: readonly Row[];
}): string {
  let id = 0;
  let y = 0;
  const panels = options.rows.flatMap(({ title, panels: rowPanels }) => {
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
    const placed = chunks(rowPanels, 4).flatMap((line) => {
      const w = columns / line.length;
      const h = Math.max(...line.map(({ type = 'timeseries' }) => height[type]));
      const top = y;
      y += h;
      return line.map((panel, at) => {
        id += 1;
        return { id, ...toGrafanaPanel(panel), gridPos: { x: at * w, y: top, w, h } };
      });
    });
    return [heading, ...placed];
  });
  const model = {
    uid: options.uid,
    title: options.title,
    description: options.description,
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
        title: 'Other dashboards',
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

function toGrafanaPanel({ title, description, unit, lines, type = 'timeseries', redFrom, redBelow }: Panel) {
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
    type,
    title,
    description,
    datasource,
    fieldConfig: {
      defaults: {
        unit,
        min: 0,
        thresholds: { mode: 'absolute', steps },
        custom:
          type === 'stat' ? {} : { thresholdsStyle: { mode: isMarked ? 'line' : 'off' }, fillOpacity: 8 },
      },
      overrides: [],
    },
    options:
      type === 'stat'
        ? { reduceOptions: { calcs: ['lastNotNull'], values: false }, colorMode: 'value', graphMode: 'area' }
        : {
            legend: { showLegend: true, displayMode: 'list', placement: 'bottom', calcs: [] },
            tooltip: { mode: 'multi', sort: 'desc' },
          },
    targets: lines.map(({ expr, legend }, at) => ({
      refId: String.fromCharCode(65 + at),
      datasource,
      expr,
      legendFormat: legend,
      range: type !== 'stat',
      instant: type === 'stat',
    })),
  };
}

function chunks<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, at) =>
    items.slice(at * size, (at + 1) * size),
  );
}
