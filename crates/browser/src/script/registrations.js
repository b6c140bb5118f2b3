// Service worker registrations: list them as they are.
const registrations = (() => {
  // Pages that are no secure context have none; workers cannot see them.
  // Only http and https have any; a page of a file has the container, and no use of it.
  const container = () => (/^https?:/.test(self.origin) ? (navigator.serviceWorker ?? null) : null);

  const describe = async (registration) => {
    const { active, waiting, installing, scope, updateViaCache, navigationPreload } = registration;
    const worker = active ?? waiting ?? installing;
    if (!worker) return null;
    const preload = await navigationPreload.getState().catch(() => ({}));
    const { enabled = false, headerValue = "true" } = preload;
    return {
      scope,
      scriptUrl: worker.scriptURL,
      updateViaCache,
      navigationPreload: { enabled, header: headerValue },
    };
  };

  const list = async () => {
    const found = await limits.within(container().getRegistrations());
    return (await Promise.all(found.map(describe))).filter((one) => one !== null);
  };

  return { container, list };
})();
