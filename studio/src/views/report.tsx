/** Tables and charts of a bench, a comparison or a judged plan. */

interface Series {
  name: string;
  values: Record<string, number>;
}

interface TablePart {
  kind: "table";
  title: string;
  header: string[];
  rows: string[][];
  note: string;
}

interface BarsPart {
  kind: "bars" | "stacked";
  title: string;
  groups: string[];
  series: Series[];
}

interface ScatterPart {
  kind: "scatter";
  title: string;
  x: string;
  points: { name: string; x: number; y: number }[];
}

export type Part = TablePart | BarsPart | ScatterPart;

export interface ReportDocument {
  kind: "report";
  title: string;
  facts: Record<string, string>;
  warning: string;
  sections: { title: string; text: string[]; parts: Part[] }[];
}

export function Report({ report }: { report: ReportDocument }) {
  const facts = Object.entries(report.facts);
  return (
    <div class="page report">
      <h1>{report.title}</h1>
      {report.warning && <p class="warning">{report.warning}</p>}
      {facts.length > 0 && (
        <dl>
          {facts.map(([title, text]) => (
            <div key={title}>
              <dt>{title}</dt>
              <dd>{text}</dd>
            </div>
          ))}
        </dl>
      )}
      {report.sections.map((section, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a section is its place
        <section key={place} aria-labelledby={`section-${place}`}>
          <h2 id={`section-${place}`}>{section.title}</h2>
          {section.text.map((line) => (
            <p key={line}>{line}</p>
          ))}
          {section.parts.map((part, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a part is its place
            <PartView key={index} part={part} />
          ))}
        </section>
      ))}
    </div>
  );
}

export function PartView({ part }: { part: Part }) {
  switch (part.kind) {
    case "table":
      return <Table part={part} />;
    case "bars":
      return <Bars part={part} />;
    case "stacked":
      return <Stacked part={part} />;
    case "scatter":
      return <Scatter part={part} />;
  }
}

function Table({ part }: { part: TablePart }) {
  return (
    <figure class="table">
      <section class="scroll" tabIndex={0} aria-label={part.title}>
        <table>
          <caption>{part.title}</caption>
          <thead>
            <tr>
              {part.header.map((cell, place) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a cell is its place
                <th key={place} scope="col">
                  {cell}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {part.rows.map(([first, ...rest], row) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a row is its place
              <tr key={row}>
                <th scope="row">{first}</th>
                {rest.map((cell, place) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: a cell is its place
                  <td key={place}>{cell}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {part.note && <figcaption>{part.note}</figcaption>}
    </figure>
  );
}

/** Colours that people with colour-blindness tell apart (Okabe and Ito). */
export const COLOURS = [
  "#0072b2",
  "#e69f00",
  "#009e73",
  "#cc79a7",
  "#56b4e9",
  "#d55e00",
  "#8c8c00",
  "#7a6aa8",
];
const colour = (place: number) => COLOURS[place % COLOURS.length] as string;

function Legend({ names }: { names: string[] }) {
  return (
    <figcaption class="keys">
      {names.map((name, place) => (
        <span key={name}>
          <svg width="12" height="12" aria-hidden="true">
            <rect width="12" height="12" rx="2" fill={colour(place)} />
          </svg>
          {name}
        </span>
      ))}
    </figcaption>
  );
}

function Grid({ left, right, top, height }: { left: number; right: number; top: number; height: number }) {
  return (
    <>
      {[0, 25, 50, 75, 100].map((share) => {
        const y = top + height * (1 - share / 100);
        return (
          <g key={share} class="tick">
            <line x1={left} x2={right} y1={y} y2={y} />
            <text x={left - 6} y={y + 4} text-anchor="end">
              {share}
            </text>
          </g>
        );
      })}
    </>
  );
}

const clamp = (value: number) => Math.min(1, Math.max(0, value));

function Bars({ part }: { part: BarsPart }) {
  const [left, top, height, gap] = [40, 10, 180, 14];
  const room = 600 / Math.max(part.groups.length, 1) - gap;
  const bar = Math.min(48, Math.max(8, room / Math.max(part.series.length, 1)));
  const step = Math.max(bar * part.series.length + gap, room + gap);
  const width = left + step * part.groups.length + 10;
  return (
    <figure class="picture">
      <h3>{part.title}</h3>
      <section class="scroll" tabIndex={0} aria-label={part.title}>
        <svg width={width} height={top + height + 24} role="img" aria-label={part.title}>
          <Grid left={left} right={width} top={top} height={height} />
          {part.groups.map((group, g) => (
            <g key={group} transform={`translate(${left + step * g + gap / 2},0)`}>
              {part.series.map((series, s) => {
                const value = series.values[group];
                if (value === undefined) {
                  return null;
                }
                // A zero is a line, which tells it from a missing value.
                const tall = Math.max(height * clamp(value), 0.5);
                return (
                  <rect
                    key={series.name}
                    x={s * bar}
                    y={top + height - tall}
                    width={bar - 1}
                    height={tall}
                    fill={colour(s)}
                  >
                    <title>{`${group}, ${series.name}: ${(100 * value).toFixed(1)} %`}</title>
                  </rect>
                );
              })}
              <text x={(bar * part.series.length) / 2} y={top + height + 16} text-anchor="middle">
                {group}
              </text>
            </g>
          ))}
        </svg>
      </section>
      <Legend names={part.series.map((series) => series.name)} />
    </figure>
  );
}

function Stacked({ part }: { part: BarsPart }) {
  const [left, width, bar] = [200, 420, 18];
  const totals = part.groups.map((group) =>
    part.series.reduce((sum, series) => sum + (series.values[group] ?? 0), 0),
  );
  const most = Math.max(...totals, 1);
  return (
    <figure class="picture">
      <h3>{part.title}</h3>
      <section class="scroll" tabIndex={0} aria-label={part.title}>
        <svg
          width={left + width + 60}
          height={part.groups.length * (bar + 8) + 10}
          role="img"
          aria-label={part.title}
        >
          {part.groups.map((group, g) => {
            let x = left;
            return (
              <g key={group} transform={`translate(0,${6 + g * (bar + 8)})`}>
                <text x={left - 8} y={bar - 5} text-anchor="end">
                  {group.length > 28 ? `${group.slice(0, 27)}…` : group}
                </text>
                {part.series.map((series, s) => {
                  const long = (width * (series.values[group] ?? 0)) / most;
                  const place = x;
                  x += long;
                  return long === 0 ? null : (
                    <rect key={series.name} x={place} width={long} height={bar} fill={colour(s)}>
                      <title>{`${group}, ${series.name}: ${series.values[group]}`}</title>
                    </rect>
                  );
                })}
                <text x={left + (width * (totals[g] ?? 0)) / most + 6} y={bar - 5}>
                  {totals[g]}
                </text>
              </g>
            );
          })}
        </svg>
      </section>
      <Legend names={part.series.map((series) => series.name)} />
    </figure>
  );
}

function Scatter({ part }: { part: ScatterPart }) {
  const [left, top, width, height] = [40, 10, 480, 220];
  const most = Math.max(...part.points.map((point) => point.x), 1);
  const names = [...new Set(part.points.map((point) => point.name))];
  return (
    <figure class="picture">
      <h3>{part.title}</h3>
      <section class="scroll" tabIndex={0} aria-label={part.title}>
        <svg width={left + width + 40} height={top + height + 44} role="img" aria-label={part.title}>
          <Grid left={left} right={left + width} top={top} height={height} />
          {[0, 1, 2, 3, 4].map((tick) => (
            <text key={tick} x={left + (width * tick) / 4} y={top + height + 16} text-anchor="middle">
              {Number(((most * tick) / 4).toFixed(1))}
            </text>
          ))}
          <text x={left + width / 2} y={top + height + 36} text-anchor="middle">
            {part.x}
          </text>
          {part.points.map((point) => (
            <circle
              key={`${point.name} ${point.x}`}
              cx={left + (width * point.x) / most}
              cy={top + height * (1 - clamp(point.y))}
              r="6"
              fill={colour(names.indexOf(point.name))}
            >
              <title>{`${point.name}: ${point.x.toFixed(1)}, ${(100 * point.y).toFixed(1)} %`}</title>
            </circle>
          ))}
        </svg>
      </section>
      <Legend names={names} />
    </figure>
  );
}
