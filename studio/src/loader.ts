/** The room's library is as large as the rest of the page together: it is loaded when a room is shown. */

import type { Room3D } from "./views/room3d";

export type Room = InstanceType<typeof Room3D>;

interface Library {
  Room3D: typeof Room3D;
}

declare global {
  var hvrRoom: Library | undefined;
}

/** Return the library, which a shared file contains and the studio's server has. */
export function loadRoom(): Promise<Library> {
  if (globalThis.hvrRoom) {
    return Promise.resolve(globalThis.hvrRoom);
  }
  return new Promise((done, fail) => {
    const script = document.createElement("script");
    script.src = "/room.js";
    script.onload = () =>
      globalThis.hvrRoom ? done(globalThis.hvrRoom) : fail(new Error("room.js is empty"));
    script.onerror = () => fail(new Error("room.js cannot be loaded"));
    document.head.append(script);
  });
}
