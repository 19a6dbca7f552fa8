/** Meters: metrics of a service's own, declared by the service and told of by the process. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** Values of labels. */
type Labels<Label extends string> = Readonly<Record<Label, string>>;

/** Declares metrics. */
export interface Meters {
  /** Counts something; gives what adds to it. */
  counter<Label extends string>(of: {
    name: string;
    help: string;
    labels: readonly Label[];
  }): (labels: Labels<Label>, count?: number) => void;
  /** Spreads values, e.g. seconds, over buckets; gives what adds one. */
  histogram<Label extends string>(of: {
    name: string;
    help: string;
    labels: readonly Label[];
    buckets: readonly number[];
  }): (labels: Labels<Label>, value: number) => void;
  /** A number that is read whenever the metrics are; where it cannot be read there is none, which is better than the last one. */
  gauge(of: { name: string; help: string; read: () => number | Promise<number> }): void;
}

/** The meters of one service. */
export function metersOf(register: Registry, service: string): Meters {
  const registers = [register];
  return {
    counter({ labels, ...named }) {
      const counter = new Counter({ ...named, labelNames: ['service', ...labels], registers });
      return (of, count = 1) => counter.inc({ service, ...of }, count);
    },
    histogram({ labels, buckets, ...named }) {
      const labelNames = ['service', ...labels];
      const histogram = new Histogram({ ...named, labelNames, buckets: [...buckets], registers });
      return (of, value) => histogram.observe({ service, ...of }, value);
    },
    gauge({ read, ...named }) {
      new Gauge({
        ...named,
        labelNames: ['service'],
        registers,
        async collect() {
          this.reset();
          try {
            this.set({ service }, await read());
          } catch {
            // there is no number
          }
        },
      });
    },
  };
}
