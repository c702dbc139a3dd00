/** How far a bench has got: cells, cost, time left, and failures by cause. */

export interface BoardData {
  running: boolean;
  done: number;
  errors: number;
  total: number | null;
  reached: number;
  cost: number | null;
  seconds_left: number | null;
  causes: [string, number][];
}

/** Return a duration as people say it. */
export function duration(seconds: number): string {
  if (seconds < 90) {
    return `${Math.round(seconds)} s`;
  }
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}

export function Board({ board }: { board: BoardData }) {
  const most = Math.max(...board.causes.map(([, count]) => count), 1);
  return (
    <section class="board" aria-label="Progress of the bench">
      <div class="row">
        <span class={`tag ${board.running ? "" : "good"}`} role="status">
          {board.running
            ? "running"
            : board.total === null || board.done >= board.total
              ? "finished"
              : "stopped"}
        </span>
        <progress
          value={board.done}
          max={board.total ?? Math.max(board.done, 1)}
          aria-label="Finished cells"
        />
      </div>
      <ul class="figures">
        <li>
          <strong>
            {board.done}
            {board.total !== null && ` of ${board.total}`}
          </strong>{" "}
          cells
        </li>
        <li>
          <strong>{board.reached}</strong> reach the goal
        </li>
        <li>
          <strong>{board.errors}</strong> with an error
        </li>
        <li>
          <strong>{board.cost === null ? "–" : `$${board.cost.toFixed(2)}`}</strong> cost
        </li>
        {board.running && (
          <li>
            <strong>{board.seconds_left === null ? "–" : duration(board.seconds_left)}</strong> left
          </li>
        )}
      </ul>
      {board.causes.length > 0 && (
        <ul class="causes" aria-label="Failures by cause">
          {board.causes.map(([cause, count]) => (
            <li key={cause}>
              <span>{cause}</span>
              <span class="measure" style={{ width: `${(100 * count) / most}%` }} />
              <span>{count}</span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
