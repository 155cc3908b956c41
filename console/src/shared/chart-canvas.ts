import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { Series } from './chart.js';
import { DAY_S, MINUTE_S } from './time.js';

const HEIGHT_PX = 220;
const AXIS_PX = 76;
/** Of the way to the next time, and in pixels: how wide a bar is. */
const BAR_WIDTH: [number, number] = [0.8, 60];
/** How much higher than its highest bar a chart is. */
const ABOVE = 1.05;
/** How many days lie between marks of an axis of days. */
const WHOLE_DAYS = [1, 2, 3, 5, 7, 10, 15, 30, 90, 180, 365, 730];
const SCHEME = '(prefers-color-scheme: dark)';

interface Drawing {
  readonly times: readonly number[];
  readonly series: readonly Series[];
  readonly format: (value: number, step: number) => string;
  readonly isStepped: boolean;
  readonly isStacked: boolean;
}

/** Draws into an element, anew at each change of its width and of the colours. Answers what ends that. */
export function drawChart(element: HTMLElement, drawing: Drawing): () => void {
  let plot: uPlot | undefined;
  const draw = () => {
    plot?.destroy();
    const lines = drawing.isStacked
      ? stacked(drawing.series)
      : drawing.series.map(({ values }) => [...values]);
    plot = new uPlot(optionsFor(element, drawing), [[...drawing.times], ...lines], element);
  };
  draw();
  const size = new ResizeObserver(() => {
    if (plot?.width !== element.clientWidth) {
      plot?.setSize({ width: element.clientWidth, height: HEIGHT_PX });
    }
  });
  size.observe(element);
  const scheme = matchMedia(SCHEME);
  scheme.addEventListener('change', draw);
  const theme = new MutationObserver(draw);
  theme.observe(document.documentElement, { attributeFilter: ['data-theme'] });
  return () => {
    size.disconnect();
    theme.disconnect();
    scheme.removeEventListener('change', draw);
    plot?.destroy();
  };
}

/** The tops of bars: each covers those after it, so the first is drawn first, and is the sum of all. */
function stacked(series: readonly Series[]): number[][] {
  return series
    .reduceRight<number[][]>((tops, { values }) => {
      const below = tops.at(-1);
      return [...tops, values.map((value, place) => (value ?? 0) + (below?.[place] ?? 0))];
    }, [])
    .toReversed();
}

/** The shortest time from one point to the next. */
function stepOf({ times }: Drawing): number {
  const gaps = times.slice(1).map((time, place) => time - (times[place] ?? 0));
  return gaps.length === 0 ? DAY_S : Math.min(...gaps);
}

/** Room for whole bars, which stand on zero. */
function barScales(drawing: Drawing): uPlot.Scales {
  const step = stepOf(drawing);
  return {
    x: { range: (_plot, min, max) => [min, max + step] },
    y: { range: (_plot, _min, max) => [0, max > 0 ? max * ABOVE : 1] },
  };
}

function optionsFor(element: HTMLElement, drawing: Drawing): uPlot.Options {
  const { format, isStepped, isStacked, series } = drawing;
  const axis = {
    stroke: colour(element, '--ink-soft'),
    grid: { stroke: colour(element, '--line'), width: 1 },
  };
  const bars = isStacked ? uPlot.paths.bars?.({ size: BAR_WIDTH, align: 1 }) : undefined;
  const paths = isStepped ? uPlot.paths.stepped?.({ align: 1 }) : bars;
  return {
    width: element.clientWidth,
    height: HEIGHT_PX,
    legend: { show: false },
    ...(isStacked && { scales: barScales(drawing) }),
    cursor: { drag: { x: false, y: false } },
    axes: [
      {
        ...axis,
        ticks: axis.grid,
        ...(stepOf(drawing) >= DAY_S && { incrs: WHOLE_DAYS.map((days) => days * DAY_S) }),
        values: (_plot, times, _axis, _space, step) => times.map(clock(step)),
      },
      {
        ...axis,
        ticks: axis.grid,
        size: AXIS_PX,
        values: (_plot, values, _axis, _space, step) => values.map((value) => format(value, step)),
      },
    ],
    series: [
      {},
      ...series.map(({ name }, index) => ({
        label: name,
        stroke: colour(element, `--series-${index + 1}`),
        width: isStacked ? 0 : 2,
        ...(isStacked && { fill: colour(element, `--series-${index + 1}`) }),
        points: { show: !isStacked && drawing.times.length === 1 },
        ...(paths && { paths }),
      })),
    ],
  };
}

/** The time at a mark of the axis, in the zone of the reader, as fine as the step between marks. */
function clock(step: number): (seconds: number) => string {
  const format = new Intl.DateTimeFormat(
    'en-GB',
    step >= DAY_S
      ? { day: 'numeric', month: 'short' }
      : {
          hour: '2-digit',
          minute: '2-digit',
          ...(step < MINUTE_S && { second: '2-digit' as const }),
        },
  );
  return (seconds) => format.format(seconds * 1_000);
}

/** The colour that a token has now, as a canvas takes it. */
function colour(element: HTMLElement, token: string): string {
  const before = element.style.color;
  element.style.color = `var(${token})`;
  const shown = getComputedStyle(element).color;
  element.style.color = before;
  return shown;
}
