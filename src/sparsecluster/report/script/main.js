// ---- the page
const curves = () => { for (const [name, each] of Object.entries(data.curves)) curve(name, each); };
for (const section of [curves, trust, truth, projection, distributions, profiles, heatmap, clusterings]) section();
matchMedia("(max-width: 46rem)").addEventListener("change", curves);

// Columns are shown if any row has them.
const has = (rows, key) => rows.some((r) => r[key] !== undefined);
const yes = (value) => (value ? "yes" : "no");
const shown = (rows, columns) => columns.filter((column) => !column.key || has(rows, column.key));
const { rows: features } = data.features, { rows: samples } = data.samples, { rows: outliers } = data.outliers;
table("features", shown(features, [
  { title: "feature", text: true, value: (r) => r.name },
  { title: "chosen", text: true, value: (r) => yes(r.chosen) },
  { title: "core", key: "core", text: true, value: (r) => yes(r.core) },
  { title: "of clusters", key: "clusters", text: true, value: (r) => r.clusters },
  { title: "score", value: (r) => r.score, words: share },
  { title: "weight", key: "weight", value: (r) => r.weight, words: digits },
  ...data.sizes.map((_, c) => ({ title: `cluster ${c}`, key: "centers", value: (r) => r.centers?.[c] ?? "", words: (value, r) => inUnits(value, r.centers ?? []) })),
]), features, "features");
table("samples", shown(samples, [
  { title: "sample", text: true, value: (r) => r.id },
  { title: "cluster", value: (r) => inCluster(r.cluster) },
  { title: "distance", key: "distance", value: (r) => r.distance, words: digits },
  { title: "second best", key: "second", value: (r) => r.second },
  { title: "silhouette", key: "silhouette", value: (r) => r.silhouette, words: share },
  { title: "outlier score", key: "outlier_score", value: (r) => r.outlier_score, words: digits },
]), samples, "samples");
if (outliers.length) table("outliers", shown(outliers, [
  { title: "sample", text: true, value: (r) => r.id },
  { title: "outlier score", key: "score", value: (r) => r.score, words: digits },
  { title: "nearest cluster", key: "nearest", value: (r) => r.nearest },
]), outliers, "outliers");
// On paper, everything is open.
matchMedia("print").addEventListener("change", ({ matches }) => document.querySelectorAll("details").forEach((each) => {
  if (matches && !each.open) each.dataset.closed = each.open = true;
  else if (!matches && each.dataset.closed) { each.open = false; delete each.dataset.closed; }
}));
document.documentElement.dataset.ready = "yes";
