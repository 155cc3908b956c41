import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { Series } from './chart.js';

const HEIGHT_PX = 220;
const AXIS_PX = 76;
const MINUTE_S = 60;
const DAY_S = 86_400;
const SCHEME = '(prefers-color-scheme: dark)';

interface Drawing {
  readonly times: readonly number[];
  readonly series: readonly Series[];
  readonly format: (value: number, step: number) => string;
  readonly isStepped: boolean;
}

/** Draws into an element, anew at each change of its width and of the colours. Answers what ends that. */
export function drawChart(element: HTMLElement, drawing: Drawing): () => void {
  let plot: uPlot | undefined;
  const draw = () => {
    plot?.destroy();
    const data: uPlot.AlignedData = [
      [...drawing.times],
      ...drawing.series.map(({ values }) => [...values]),
    ];
    plot = new uPlot(optionsFor(element, drawing), data, element);
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

function optionsFor(element: HTMLElement, drawing: Drawing): uPlot.Options {
  const { format, isStepped, series } = drawing;
  const axis = {
    stroke: colour(element, '--ink-soft'),
    grid: { stroke: colour(element, '--line'), width: 1 },
  };
  const paths = isStepped ? uPlot.paths.stepped?.({ align: 1 }) : undefined;
  return {
    width: element.clientWidth,
    height: HEIGHT_PX,
    legend: { show: false },
    cursor: { drag: { x: false, y: false } },
    axes: [
      {
        ...axis,
        ticks: axis.grid,
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
        width: 2,
        points: { show: drawing.times.length === 1 },
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
