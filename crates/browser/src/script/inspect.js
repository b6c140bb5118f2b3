// What a page sees of its environment.
function inspect() {
  return JSON.stringify({
    url: location.href,
    visible: document.visibilityState === "visible",
    viewport: { width: innerWidth, height: innerHeight },
    timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    locale: navigator.language,
    userAgent: navigator.userAgent,
  });
}
